// What Storybook has built, on a port that nobody else uses.
export default {
  build: { outDir: 'storybook-static' },
  preview: { port: Number(process.env.VITE_PORT), strictPort: true },
}
