/** Follows a browser's way with its cookies, until it comes back to us. */
export async function comeBack(start: string, redirectUri: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  for (let step = 0; step < 12; step += 1) {
    if (url.href.startsWith(redirectUri)) return url;
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    await response.body?.cancel();
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${url.href} answered ${response.status} and sends nowhere`);
    url = new URL(location, url);
  }
  throw new Error('the provider sends in circles');
}
