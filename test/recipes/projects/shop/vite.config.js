// A port that nobody else uses, as the test has found it.
export default { server: { port: Number(process.env.VITE_PORT), strictPort: true } }
