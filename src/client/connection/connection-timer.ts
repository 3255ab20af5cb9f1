import type { ConnectionPorts } from "./connection-ports.js";
import type { ConnectionEffect } from "./connection-state.js";
import { reconnectDelayMs } from "./reconnect-delay.js";

type TimerStart = Extract<ConnectionEffect, { do: "startTimer" }>;

/** How long a server may take to send the first message on a new socket. */
const OPEN_TIMEOUT_MS = 15_000;

/** How long a server may take to answer a ping. It is pinged twice before the connection is given up. */
const ANSWER_TIMEOUT_MS = 5_000;

/** The one timer of a connection, for whatever it waits at a time. */
export class ConnectionTimer {
  readonly #ports: ConnectionPorts;
  readonly #pingIntervalMs: number | undefined;
  #stop: (() => void) | undefined;

  constructor(ports: ConnectionPorts, pingIntervalMs: number | undefined) {
    this.#ports = ports;
    this.#pingIntervalMs = pingIntervalMs;
  }

  /** In place of the one that runs; a delay with `since` began then. */
  start({ timer, failures, since }: TimerStart, due: () => void): void {
    this.stop();
    this.#stop = this.#ports.setTimer(
      Math.max(0, this.#delayOf(timer, failures) - (since === undefined ? 0 : this.#ports.now() - since)),
      due,
      timer === "silence" || timer === "answer",
    );
  }

  stop(): void {
    this.#stop?.();
  }

  #delayOf(timer: TimerStart["timer"], failures: number): number {
    switch (timer) {
      case "open":
        return OPEN_TIMEOUT_MS;
      case "retry":
        return reconnectDelayMs(failures, () => this.#ports.random());
      case "silence":
        return this.#pingIntervalMs ?? 0;
      case "answer":
        return ANSWER_TIMEOUT_MS;
    }
  }
}
