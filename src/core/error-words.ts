import type { Violation } from '../contract/contract.js'
import type { ErrorWords } from '../contract/resource-data.js'

/** The type, and the sentence, of a broken rule. */
type Words = readonly [type: string, sentence: string]

/**
 * By rule, with what it asks for, and the type of a wrong value, if these matter.
 * @source pydantic 2: Validation Errors
 */
const PYDANTIC: Readonly<Record<string, Words>> = {
  required: ['missing', 'Field required'],
  json: ['json_invalid', 'JSON decode error'],
  additionalProperties: ['extra_forbidden', 'Extra inputs are not permitted'],
  'type array': ['list_type', 'Input should be a valid list'],
  'type boolean': ['bool_type', 'Input should be a valid boolean'],
  'type boolean string': ['bool_parsing', 'Input should be a valid boolean, unable to interpret input'],
  'type integer': ['int_type', 'Input should be a valid integer'],
  'type integer number': ['int_from_float', 'Input should be a valid integer, got a number with a fractional part'],
  'type integer string': ['int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
  'type number': ['float_type', 'Input should be a valid number'],
  'type number string': ['float_parsing', 'Input should be a valid number, unable to parse string as a number'],
  'type object': ['model_attributes_type', 'Input should be a valid dictionary or object to extract fields from'],
  'type string': ['string_type', 'Input should be a valid string'],
  'format date': ['date_from_datetime_parsing', 'Input should be a valid date or datetime'],
  'format date-time': ['datetime_from_date_parsing', 'Input should be a valid datetime or date'],
  'format email': ['value_error', 'value is not a valid email address: An email address must have an @-sign.'],
  'format uri': ['url_parsing', 'Input should be a valid URL, relative URL without a base'],
  'format uuid': ['uuid_parsing', 'Input should be a valid UUID'],
  const: ['literal_error', 'Input should be {choices}'],
  enum: ['enum', 'Input should be {choices}'],
  exclusiveMaximum: ['less_than', 'Input should be less than {limit}'],
  exclusiveMinimum: ['greater_than', 'Input should be greater than {limit}'],
  maximum: ['less_than_equal', 'Input should be less than or equal to {limit}'],
  maxItems: ['too_long', 'List should have at most {limit} item{s} after validation, not {count}'],
  maxLength: ['string_too_long', 'String should have at most {limit} character{s}'],
  minimum: ['greater_than_equal', 'Input should be greater than or equal to {limit}'],
  minItems: ['too_short', 'List should have at least {limit} item{s} after validation, not {count}'],
  minLength: ['string_too_short', 'String should have at least {limit} character{s}'],
  multipleOf: ['multiple_of', 'Input should be a multiple of {limit}'],
  pattern: ['string_pattern_mismatch', "String should match pattern '{limit}'"],
  '': ['value_error', 'Value error, {message}'],
}

/** @source class-validator: default messages */
const CLASS_VALIDATOR: Readonly<Record<string, string>> = {
  required: '{path} should not be empty',
  additionalProperties: 'property {path} should not exist',
  'type array': '{path} must be an array',
  'type boolean': '{path} must be a boolean value',
  'type integer': '{path} must be an integer number',
  'type number': '{path} must be a number conforming to the specified constraints',
  'type object': '{path} must be an object',
  'type string': '{path} must be a string',
  'format byte': '{path} must be base64 encoded',
  'format date': '{path} must be a valid ISO 8601 date string',
  'format date-time': '{path} must be a valid ISO 8601 date string',
  'format email': '{path} must be an email',
  'format uri': '{path} must be a URL address',
  'format uuid': '{path} must be a UUID',
  enum: '{path} must be one of the following values: {limit}',
  maximum: '{path} must not be greater than {limit}',
  maxItems: '{path} must contain no more than {limit} elements',
  maxLength: '{path} must be shorter than or equal to {limit} characters',
  minimum: '{path} must not be less than {limit}',
  minItems: '{path} must contain at least {limit} elements',
  minLength: '{path} must be longer than or equal to {limit} characters',
  multipleOf: '{path} must be divisible by {limit}',
  pattern: '{path} must match /{limit}/ regular expression',
  uniqueItems: "All {path}'s elements must be unique",
}

/** A rule with what it asks for. Bounds of whole numbers are one rule of ours. */
function brokenRule({ rule = '', params = {}, value }: Violation): { readonly rule: string; readonly limit: unknown } {
  // ajv names `>=` beside the limit.
  const { comparison: _, ...asked } = params
  if (rule !== 'int64') return { rule, limit: Object.values(asked)[0] }
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return { rule: 'type', limit: 'integer' }
  const { minimum, maximum, above, below } = params
  if (minimum !== null && Number(value) < Number(minimum))
    return above === null ? { rule: 'minimum', limit: minimum } : { rule: 'exclusiveMinimum', limit: above }
  return below === null ? { rule: 'maximum', limit: maximum } : { rule: 'exclusiveMaximum', limit: below }
}

/** A violation in the words of the framework that the documented error comes from. */
export function inWordsOf(words: ErrorWords | undefined, violation: Violation): Violation {
  const { value, name, message } = violation
  // The sentences are about a field.
  if (words === undefined || (words === 'class-validator' && name === '')) return violation
  const { rule, limit } = brokenRule(violation)
  const asked = String(limit).replace('local-', '')
  const keys = [`${rule} ${asked} ${typeof value}`, `${rule} ${asked}`, rule, '']
  const find = <Found>(table: Readonly<Record<string, Found>>) => table[keys.find((key) => key in table) ?? '']
  const [type, sentence] =
    words === 'pydantic' ? (find(PYDANTIC) ?? [rule, message]) : [rule, find(CLASS_VALIDATOR) ?? message]
  const choices = [limit].flat().map((choice) => (typeof choice === 'string' ? `'${choice}'` : String(choice)))
  const filling: Readonly<Record<string, unknown>> = {
    limit: [limit].flat().map(String).join(', '),
    choices: choices.join(', ').replace(/, (?!.*, )/s, ' or '),
    count: Array.isArray(value) ? value.length : 0,
    s: Number(limit) === 1 ? '' : 's',
    path: name.replaceAll(/\[(\d+)\]/g, '.$1'),
    message,
  }
  return {
    ...violation,
    rule: type,
    message: sentence.replace(/\{(\w+)\}/g, (whole, key) => `${filling[key] ?? whole}`),
  }
}
