/** What the sandbox does to a client: calls of its control plane, before the client begins. `c METHOD PATH BODY` is one. */
export const CONDITIONS: Readonly<Record<string, string>> = {
  // The minute has less than three seconds left when the client comes.
  quota: `c PATCH /settings '{"limits":"1/min,100000/day"}'; curl -s -o /dev/null -H "$A" "$U"; c POST /clock/advance '{"by":"57s"}'`,
  storm: `c PUT /storm '{"rate":1,"retryAfter":"1s"}'`,
  ban: `c PUT /keys/sandbox/ban '{"for":"4s"}'`,
  none: `c PATCH /settings '{"retryAfter":"none"}'; c PUT /faults '[{"operation":"*","fault":"status","status":429}]'`,
  503: `c PUT /faults '[{"operation":"*","fault":"status","status":503}]'`,
  '503-retry-after': `c PUT /faults '[{"operation":"*","fault":"status","status":503,"retryAfter":"1s"}]'`,
  reset: `c PUT /faults '[{"operation":"*","fault":"connection-reset"}]'`,
  // The client has given up when the refusal is sent: it never hears of the wait.
  lost: `c PUT /storm '{"rate":1,"retryAfter":"1s"}'; c PATCH /settings '{"latency":"400ms"}'`,
}

/** Milliseconds after which clients give a request up. */
export const timeoutIn = (condition: string): number => (condition === 'lost' ? 150 : 10_000)

/** Shell functions and variables that conditions and clients use. `$Q` is the query that names the space. */
export const PRELUDE = `U="$PETSTORE_BASE_URL/pets"; A="Authorization: Bearer $PETSTORE_API_KEY"
c() { curl -sf -o /dev/null -H 'content-type: application/json' -X "$1" -d "$3" "$PETSTORE_SANDBOX_URL$2\${CONTROL_QUERY:+?$CONTROL_QUERY}"; }
`
