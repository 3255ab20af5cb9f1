/** A promise of an opening, settled once. A rejection counts as handled. */
export class Opening {
  readonly promise: Promise<void>;
  #settle: { resolve(): void; reject(error: Error): void } | undefined;

  constructor() {
    this.promise = new Promise<void>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.promise.catch(() => {});
  }

  get isSettled(): boolean {
    return this.#settle === undefined;
  }

  resolve(): void {
    this.#settle?.resolve();
    this.#settle = undefined;
  }

  reject(error: Error): void {
    this.#settle?.reject(error);
    this.#settle = undefined;
  }
}
