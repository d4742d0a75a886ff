const { sandbox } = await import('./mocks')
await import('./main')
const { EXPECTED_CONDITIONS, tryConditions } = await import('./conditions')

// What the test calls.
Object.assign(globalThis, {
  conditions: async () => ({ seen: await tryConditions(sandbox), expected: EXPECTED_CONDITIONS }),
})

export {}
