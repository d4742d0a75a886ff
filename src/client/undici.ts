/** Loaded late: most commands send nothing. */
export { Pool, ProxyAgent } from 'undici'
