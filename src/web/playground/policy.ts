import jsep from 'jsep'

export interface FailedRequest {
  /** 0 without a response. */
  readonly status: number
  readonly attempt: number
  /** Seconds, or null without the header. */
  readonly retryAfter: number | null
  readonly random: number
}

/** Seconds: doubles from try to try, with jitter. */
function backoffAfter({ attempt, random }: FailedRequest): number {
  return Math.min(16, 2 ** attempt / 4) * (0.5 + random)
}

/** Seconds until the next try; infinite: the request is dropped. */
export type Policy = (failed: FailedRequest) => number

export const MAX_POLICY_LENGTH = 200
export const POLICY_NAMES = ['status', 'attempt', 'retryAfter', 'backoff', 'random', 'giveUp'] as const

type Value = number | boolean | null
type Read = (names: Readonly<Record<(typeof POLICY_NAMES)[number], Value>>) => Value

const OPERATORS: Readonly<Record<string, (one: number, other: number) => Value>> = {
  '+': (one, other) => Number(one) + Number(other),
  '-': (one, other) => one - other,
  '*': (one, other) => one * other,
  '/': (one, other) => one / other,
  '%': (one, other) => one % other,
  '**': (one, other) => one ** other,
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
  '==': (one, other) => one === other,
  '===': (one, other) => one === other,
  '!=': (one, other) => one !== other,
  '!==': (one, other) => one !== other,
}

const FUNCTIONS: ReadonlyMap<string, (...numbers: number[]) => number> = new Map(
  (['min', 'max', 'round', 'floor', 'ceil'] as const).map((name) => [name, Math[name]]),
)

/**
 * Reads an expression such as `retryAfter ?? min(60, 2 * backoff)`. It has no loops, so it always ends, and no
 * access to the page, so that a link can carry it.
 * @throws Error with the problem
 */
export function readPolicy(text: string): Policy {
  if (text.length > MAX_POLICY_LENGTH)
    throw new Error(`A policy has at most ${MAX_POLICY_LENGTH} characters; this one has ${text.length}.`)
  const read = compile(jsep(text))
  return (failed) => {
    const seconds = Number(read({ ...failed, backoff: backoffAfter(failed), giveUp: Number.POSITIVE_INFINITY }))
    return Number.isNaN(seconds) ? 0 : Math.max(0, seconds)
  }
}

function compile(given: jsep.Expression): Read {
  const node = given as jsep.CoreExpression
  switch (node.type) {
    case 'Literal': {
      const { value, raw } = node
      if (value === null || typeof value === 'number' || typeof value === 'boolean') return () => value
      throw new Error(`Text is not allowed: ${raw}.`)
    }
    case 'Identifier': {
      const name = POLICY_NAMES.find((known) => known === node.name)
      if (name === undefined) throw new Error(`Unknown name "${node.name}". Use ${POLICY_NAMES.join(', ')}.`)
      return (names) => names[name]
    }
    case 'UnaryExpression': {
      const read = compile(node.argument)
      if (node.operator === '!') return (names) => !read(names)
      if (node.operator === '-') return (names) => -Number(read(names))
      break
    }
    case 'BinaryExpression':
      return compileBinary(node.operator, compile(node.left), compile(node.right))
    case 'ConditionalExpression': {
      const [test, then, otherwise] = [compile(node.test), compile(node.consequent), compile(node.alternate)]
      return (names) => (test(names) ? then(names) : otherwise(names))
    }
    case 'CallExpression': {
      const name = String(node.callee.name)
      const call = FUNCTIONS.get(name)
      if (call === undefined) throw new Error(`Unknown function "${name}". Use ${[...FUNCTIONS.keys()].join(', ')}.`)
      const reads = node.arguments.map(compile)
      return (names) => call(...reads.map((read) => Number(read(names))))
    }
  }
  throw new Error('Write one expression of numbers, for example: retryAfter ?? backoff.')
}

function compileBinary(operator: string, left: Read, right: Read): Read {
  if (operator === '??') return (names) => left(names) ?? right(names)
  if (operator === '&&') return (names) => left(names) && right(names)
  if (operator === '||') return (names) => left(names) || right(names)
  const act = OPERATORS[operator]
  if (act === undefined) throw new Error(`The operator ${operator} is not allowed.`)
  return (names) => act(left(names) as number, right(names) as number)
}
