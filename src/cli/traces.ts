import type { CliIo } from './io.js'
import type { TracedService, Traces } from './traces/span-exporter.js'

/** Spans for an OpenTelemetry collector, if the environment names one. @source docs/deploy.md, "OpenTelemetry" */
export async function openTraces({ env }: CliIo, service: TracedService): Promise<Traces | undefined> {
  if (!env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT && !env.OTEL_EXPORTER_OTLP_ENDPOINT) return undefined
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined
  const { openSpanExporter } = await import('./traces/span-exporter.js')
  return openSpanExporter(env, service)
}
