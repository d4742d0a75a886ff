/** Loaded late: few documents are Swagger 2.0. */
export { upgradeFromTwoToThree } from '@scalar/openapi-upgrader/2.0-to-3.0'
