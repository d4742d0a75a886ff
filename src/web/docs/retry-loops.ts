import type { KeyHeader } from '../../contract/contract-data.js'

/**
 * A correct retry loop in each language: waits for Retry-After or its own growing delay, the longer of both, and stops
 * after five tries.
 */
export function retryLoops(baseUrl: string, { name, prefix }: KeyHeader, key: string) {
  return {
    fetch: () => `async function ask(path) {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(${JSON.stringify(baseUrl)} + path, {
      headers: { '${name}': '${prefix}${key}' },
    })
    if (response.status !== 429 || attempt === 4) return response
    // Seconds; where it is a date or missing, the growing delay alone.
    const asked = Number(response.headers.get('retry-after') ?? 0) * 1000 || 0
    const delay = 500 * 2 ** attempt * (1 + Math.random())
    await new Promise((resolve) => setTimeout(resolve, Math.max(asked, delay)))
  }
}

const response = await ask('/pets?limit=2')
console.log(response.status, await response.text())`,
    Python: () => `import random
import time
import urllib.error
import urllib.request


def ask(path):
    for attempt in range(5):
        request = urllib.request.Request(
            ${JSON.stringify(baseUrl)} + path,
            headers={"${name}": "${prefix}${key}"},
        )
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            if error.code != 429 or attempt == 4:
                return error.code, error.read().decode()
            asked = error.headers.get("Retry-After", "")
            delay = 0.5 * 2**attempt * (1 + random.random())
            time.sleep(max(int(asked) if asked.isdigit() else 0, delay))


print(*ask("/pets?limit=2"))`,
    curl: () =>
      `# --retry waits for Retry-After by itself, and doubles its own delay.
curl -sS --retry 4 --retry-max-time 120 -H '${name}: ${prefix}${key}' '${baseUrl}/pets?limit=2'`,
    call: () =>
      `# call waits by itself: for the longer of Retry-After and a growing delay.
PETSTORE_API_KEY=${key} petstore-sandbox call listPets --limit 2 --retry 4 --base-url ${baseUrl}`,
  }
}
