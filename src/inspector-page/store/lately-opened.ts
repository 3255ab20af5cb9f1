/** The actors that were opened lately in this browser. */
import { signal } from "@preact/signals";
import { isSameActor, type Address } from "../model/address.js";

const ITEM = "perdure-inspector-opened";
const KEPT = 12;

export const latelyOpened = signal<readonly Address[]>(read());

export function remember({ name, key }: Address): void {
  const others = latelyOpened.value.filter((each) => !isSameActor(each, { name, key }));
  latelyOpened.value = [{ name, key }, ...others].slice(0, KEPT);
  try {
    localStorage.setItem(ITEM, JSON.stringify(latelyOpened.value));
  } catch {
    // The browser keeps nothing for this page.
  }
}

function read(): readonly Address[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(ITEM) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isAddress).slice(0, KEPT) : [];
  } catch {
    return [];
  }
}

function isAddress(value: unknown): value is Address {
  const { name, key } = (value ?? {}) as Partial<Address>;
  return typeof name === "string" && Array.isArray(key) && key.every((part) => typeof part === "string");
}
