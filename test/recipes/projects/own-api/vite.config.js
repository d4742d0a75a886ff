export default { server: { port: Number(process.env.VITE_PORT), strictPort: true } }
