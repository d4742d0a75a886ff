const { sandbox } = await import('./mocks')
await import('./main')
const { EVERY_WEATHER, everyWeather } = await import('./weather')

// What the test calls.
Object.assign(globalThis, {
  weather: async () => ({ seen: await everyWeather(sandbox), expected: EVERY_WEATHER }),
})

export {}
