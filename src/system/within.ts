/** Ignores failures after the timeout. @param duration real ms @returns whether the work was done in time */
export async function within(duration: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, duration, false)
  })
  return Promise.race([work.then(() => true), timeout]).finally(() => clearTimeout(timer))
}
