// A port that nobody else uses, as the test has found it, and a cache of its own: Vite's lock lies in it, and
// the Vite of the test before may still be ending.
const port = Number(process.env.VITE_PORT)
export default { server: { port, strictPort: true }, cacheDir: `node_modules/.vite-${port}` }
