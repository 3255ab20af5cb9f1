/** What a scheduled action gets after its own arguments. Times in epoch ms. */
export interface ScheduledFireInfo {
  readonly kind: "at" | "cron" | "every";
  readonly id: string;
  readonly name?: string;
  readonly scheduledAt: number;
  readonly firedAt: number;
}

export interface ScheduledEvent {
  readonly id: string;
  readonly action: string;
  readonly args: unknown[];
  /** Epoch ms. */
  readonly runAt: number;
}
