/** How one server is reached. `shown` is its command or address as it was written, before any variable was filled in. */
export type ServerConfig = {
  name: string
  /** The file it came from, or `settings`. */
  from: string
  shown: string
  timeoutSeconds: number
} & (StdioConfig | HttpConfig)

export type StdioConfig = {
  kind: 'stdio'
  command: string
  args: string[]
  cwd: string
  env: Record<string, string>
}

export type HttpConfig = {
  kind: 'http' | 'sse'
  url: string
  headers: Record<string, string>
  oauth?: OAuthConfig
}

/** For a server whose logins know this client already; without it, the client registers itself. */
export type OAuthConfig = { clientId?: string; clientSecret?: string; clientMetadataUrl?: string; scope?: string }

export const defaultTimeoutSeconds = 60

/** What a server was given and nobody else should read: values of its environment, headers and login. */
export function secretsOf(config: ServerConfig): string[] {
  const values =
    config.kind === 'stdio'
      ? Object.values(config.env)
      : [...Object.values(config.headers), config.oauth?.clientSecret ?? '']
  // A header is often a word and a token: the token alone is as secret.
  return values.flatMap((value) => [value, ...value.split(/\s+/)]).filter((value) => value.length >= 6)
}

/** The text without any of them. */
export function hide(text: string, secrets: readonly string[]): string {
  return [...secrets]
    .sort((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}
