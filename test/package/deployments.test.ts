import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { envName, kebabName, NAMED_OPTIONS } from '../../src/options/names.js'
import { serveDefaults } from '../../src/options/options.js'
import { blocksOf, readDocument } from '../support/documents.js'

const { port: PORT } = serveDefaults('json')
const FLAGS = NAMED_OPTIONS.map((option) => `--${kebabName(option)}`)
const VARIABLES = NAMED_OPTIONS.map(envName)
const manifest = JSON.parse(readDocument('package.json').text)
const block = (marker: string) =>
  blocksOf(readDocument('docs/deploy.md')).find((one) => one.marker === marker)?.code ?? ''

function unknownFlags(args: readonly string[]): readonly string[] {
  return args.filter((word) => word.startsWith('--') && !FLAGS.includes(word))
}

it('the image runs serve without root, with its state in a volume, and waits until it is healthy', () => {
  const stage =
    readDocument('Dockerfile')
      .text.split(/^FROM /m)
      .at(-1) ?? ''
  const packed = '/tmp/petstore-sandbox-*.tgz'
  for (const part of [
    `COPY --from=build ${packed} /tmp/\nRUN npm install --global --no-audit --no-fund ${packed} \\\n && rm ${packed} `,
    ' && install --directory --owner=node --group=node /data\nUSER node\nWORKDIR /data\nVOLUME /data\n',
    `EXPOSE ${PORT}\n`,
    'CMD ["petstore-sandbox", "control", "wait", "--timeout", "2s"]\nENTRYPOINT ["petstore-sandbox"]\nCMD ["serve"]\n',
  ])
    expect(stage).toContain(part)
  const variables = [...stage.matchAll(/ (\w+)=\S+(?= |$)/gm)].map(([, name = '']) => name)
  expect(variables.filter((name) => /^PETSTORE/.test(name) && !VARIABLES.includes(name))).toEqual([])
})

it('the build stage packs the package, on a Node that it supports', () => {
  const { text } = readDocument('Dockerfile')
  expect(text).toMatch(/^FROM \$\{NODE_IMAGE\} AS build$/m)
  expect(text).toContain('npm ci --ignore-scripts --no-audit --no-fund && npm pack --silent')
  // npm pack builds, since --ignore-scripts is a flag of npm ci only.
  expect(manifest.scripts.prepack).toBe('npm run build')
  const [, node = ''] = /^ARG NODE_IMAGE=node:(\d+)/m.exec(text) ?? []
  expect(Number(node)).toBeGreaterThanOrEqual(Number(/\d+/.exec(manifest.engines.node)?.[0]))
})

it('the Compose file starts replicas with known options and declared volumes', () => {
  const { services, volumes } = parse(block('compose'))
  const [command, ...args] = services.sandbox.command.split(' ')
  expect(command).toBe('serve')
  expect(unknownFlags(args)).toEqual([])
  expect(Object.keys(services.sandbox.environment).filter((name) => !VARIABLES.includes(name))).toEqual([])
  expect(services.sandbox.depends_on).toEqual(Object.keys(services).filter((name) => name !== 'sandbox'))
  const [, host] = /redis:\/\/(\w+):6379/.exec(services.sandbox.command) ?? []
  expect(Object.keys(services)).toContain(host)
  const mounted = services.redis.volumes.map((volume: string) => volume.split(':', 1).join())
  expect(mounted).toEqual(Object.keys(volumes))
})

it('the Kubernetes deployment uses known options, ports, probes and variables', () => {
  const code = block('kubernetes')
  const deployment = parse(code)
  const { metadata, spec } = deployment.spec.template
  const [container] = spec.containers
  expect(container.args[0]).toBe('serve')
  expect(unknownFlags(container.args)).toEqual([])
  const named = code.match(/PETSTORE_\w+/g) ?? []
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((name) => !VARIABLES.includes(name))).toEqual([])
  expect(container.image).toBe(`${manifest.name}:${manifest.version}`)
  expect(container.ports).toEqual([{ name: 'http', containerPort: PORT }])
  expect(container.readinessProbe.httpGet).toEqual({ path: '/__sandbox/health', port: 'http' })
  expect(deployment.spec.selector.matchLabels).toEqual(metadata.labels)
})
