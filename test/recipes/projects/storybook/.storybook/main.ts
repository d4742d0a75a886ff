export default {
  framework: '@storybook/react-vite',
  stories: ['../src/*.stories.tsx'],
  addons: ['msw-storybook-addon'],
  staticDirs: ['../public'],
  core: { disableTelemetry: true },
}
