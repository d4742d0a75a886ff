import type { AnswerRules } from '../contract/answer-rules.js'
import type { UpstreamWrites } from '../domain/upstream.js'

/** The real service behind a sandbox, as far as the core has to know of it. */
export interface RealServiceRules {
  /** Its base address. */
  readonly baseUrl: string
  /** Whether a key for it was given: then it stands for every key that the sandbox knows. */
  readonly hasKey: boolean
  readonly writes: UpstreamWrites
  /** Path of the real service: `/v1`. */
  readonly basePath: string
  /** What its answers are held against. */
  readonly rules: AnswerRules
}
