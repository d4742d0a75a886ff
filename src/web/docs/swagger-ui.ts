/** The few members of Swagger UI that the page uses; its package has no types. */
declare global {
  /** From swagger-ui.js, which is loaded before the page's own script. */
  function SwaggerUIBundle(options: SwaggerOptions): SwaggerSystem
}

/** An element of Swagger UI's own React. */
export interface SwaggerElement {
  readonly type: unknown
}

export type SwaggerComponent<Props = Readonly<Record<string, unknown>>> = (props: Props) => SwaggerElement | null

interface SwaggerReact {
  readonly Fragment: symbol
  createElement(type: unknown, props: object | null, ...children: unknown[]): SwaggerElement
}

export interface SwaggerSystem {
  readonly React: SwaggerReact
  getComponent(name: string, inContainer?: boolean): unknown
  /** Fills in the key of a security scheme. */
  preauthorizeApiKey(scheme: string, key: string): unknown
}

type Wrapped<Original, Replacement> = (original: Original, system: SwaggerSystem) => Replacement

export interface SwaggerPlugin {
  readonly components?: Readonly<Record<string, unknown>>
  readonly wrapComponents?: Readonly<Record<string, Wrapped<unknown, unknown>>>
  readonly statePlugins?: Readonly<
    Record<
      string,
      {
        readonly wrapSelectors?: Readonly<
          Record<string, Wrapped<unknown, (state: unknown, ...values: string[]) => unknown>>
        >
        readonly wrapActions?: Readonly<
          Record<string, Wrapped<(payload: unknown) => unknown, (payload: unknown) => unknown>>
        >
      }
    >
  >
}

interface SwaggerOptions {
  readonly spec: object
  readonly domNode: Element
  readonly plugins: readonly ((system: SwaggerSystem) => SwaggerPlugin)[]
  readonly deepLinking: boolean
  readonly tryItOutEnabled: boolean
  readonly displayRequestDuration: boolean
  readonly validatorUrl: null
  readonly onComplete: () => void
}
