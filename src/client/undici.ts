/** What is used of undici, in a module that is loaded late: most commands send nothing. */
export { Pool, ProxyAgent, request } from 'undici'
