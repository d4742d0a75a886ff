/** GET /health of a sandbox. */
export async function healthOf(controlUrl: string): Promise<{ readonly pid: number; readonly startedAt: string }> {
  return (await (await fetch(`${controlUrl}/health`)).json()) as { pid: number; startedAt: string }
}
