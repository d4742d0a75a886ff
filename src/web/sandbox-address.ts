/**
 * The address that the sandbox has for this page, without a slash at its end: the folder that `__sandbox/` lies in.
 * That is an origin, unless something before the sandbox serves it below a path.
 */
export const SANDBOX_ADDRESS = new URL('..', document.baseURI).href.replace(/\/$/, '')
