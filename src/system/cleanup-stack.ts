/** Closes resources in reverse order: on stop, or when a later step of the start fails. */
export class CleanupStack {
  readonly #steps: (() => unknown)[] = []
  #closing: Promise<void> | undefined

  defer(close: () => unknown): void {
    this.#steps.push(close)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const failures: unknown[] = []
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

/** If a step fails, runs the cleanup of the earlier steps. @throws the error of the step */
export async function openInSteps<T>(open: (opened: CleanupStack) => Promise<T>): Promise<T> {
  const opened = new CleanupStack()
  try {
    return await open(opened)
  } catch (error) {
    // The reason of the failed start is the one to report.
    await opened.close().catch(() => {})
    throw error
  }
}

/** Ignores failures after the timeout. @param duration real ms @returns whether the work was done in time */
export async function within(duration: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, duration, false)
  })
  return Promise.race([work.then(() => true), timeout]).finally(() => clearTimeout(timer))
}
