const LOOPBACK = 'localhost,127.0.0.1,::1,[::1]'

/** The proxies of the environment, as undici reads them; what is on this machine is never sent through one. */
export function proxies(env: Readonly<Record<string, string | undefined>>) {
  const noProxy = env.no_proxy ?? env.NO_PROXY ?? ''
  return {
    httpProxy: env.http_proxy ?? env.HTTP_PROXY ?? '',
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? '',
    noProxy: noProxy.trim() === '*' ? '*' : `${noProxy},${LOOPBACK}`,
  }
}
