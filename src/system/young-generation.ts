/**
 * Leaves V8's young generation, where everything is made, as large as the start has made it: 2 MB, twice.
 *
 * V8 doubles it each time that as much has outlived its scavenges as it holds, to 16 MB in Node 20 and 64 in Node 24, twice. A sandbox keeps
 * next to nothing of a request, so it gains nothing by that: what its scavenges take stays the same.
 *
 * Only for a process that has nothing else to do. Of the flags for this it is the one that V8 still looks at once it runs.
 */
export function limitYoungGeneration(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1')
}
