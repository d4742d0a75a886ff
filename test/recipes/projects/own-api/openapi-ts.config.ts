/** Clients that check each response with zod. */
export default ['board', 'booking'].map((name) => ({
  input: `${name}.json`,
  output: `client/${name}`,
  plugins: ['@hey-api/client-fetch', { name: '@hey-api/sdk', validator: { response: 'zod' } }, 'zod'],
}))
