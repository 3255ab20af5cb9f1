import { expect } from "vitest";
import { serve } from "./deploying.js";
import { Stage, type Claims } from "./stage.js";

const API = "https://shop.example.com/inspector/api";

export const inspector: Readonly<Record<string, Claims>> = {
  "looked-at.ts": {
    "opens with the secret alone": async (example) => {
      const send = serve(new Stage(example), example, { INSPECTOR_TOKEN: "hush" });
      const statusWith = async (authorization: string): Promise<number> =>
        (await send(`${API}/actors`, { headers: { authorization } })).status;
      expect(await statusWith("Bearer hush")).toBe(200);
      expect(await statusWith("Bearer guess")).toBe(401);
    },
    "lets nobody in without the secret": async (example) => {
      const send = serve(new Stage(example), example);
      const headers = { authorization: "Bearer undefined" };
      expect((await send(`${API}/actors`, { headers })).status).toBe(401);
    },
  },
};
