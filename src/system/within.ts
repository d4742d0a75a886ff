/**
 * Waits for work with a timeout. Failures after the timeout are ignored.
 *
 * @param duration in milliseconds of real time
 * @returns whether it was done in time
 * @throws the error of the work
 */
export async function within(duration: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, duration, false)
  })
  return Promise.race([work.then(() => true), timeout]).finally(() => clearTimeout(timer))
}
