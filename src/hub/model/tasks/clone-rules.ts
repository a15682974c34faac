import type { RemoteAddress } from './workspace.ts'
import { remoteAddress, repositoryIn } from './workspace.ts'

/** A rule about what a machine may clone. A rule without a protocol covers the protocols that encrypt and verify their server. */
type CloneRule = { protocol?: RemoteAddress['protocol']; port?: number; host: string; path: string }

const safe: readonly RemoteAddress['protocol'][] = ['https', 'ssh']

/** Parses a rule: "*", "github.com/acme/*", "github.com/acme/shop", "https://git.example:8443/*". Undefined for anything else. */
export function cloneRule(text: string): CloneRule | undefined {
  if (text === '*') return { host: '*', path: '' }
  const [, protocol, host, port, path] =
    /^(?:(https|http|ssh|git):\/\/)?(\[[0-9a-f:]+\]|[a-z0-9][a-z0-9.-]*)(?::(\d+))?\/((?:[^*\s/?#]+\/)*(?:\*|[^*\s/?#]+))$/i.exec(
      text,
    ) ?? []
  if (host === undefined || path === undefined) return undefined
  const sample = remoteAddress(
    `${protocol ?? 'https'}://${host}${port === undefined ? '' : `:${port}`}/${path.replace(/\*$/, 'x')}`,
  )
  if (!sample) return undefined
  const rule: CloneRule = { host: sample.host, path: path.endsWith('*') ? `${sample.path.slice(0, -1)}*` : sample.path }
  if (protocol !== undefined) rule.protocol = sample.protocol
  if (sample.port !== undefined) rule.port = sample.port
  return rule
}

/** Whether one of the rules allows an address. A port other than the usual one must be part of the rule. */
export function mayClone(rules: readonly string[], address: RemoteAddress): boolean {
  return rules.some((text) => {
    const rule = cloneRule(text)
    if (!rule) return false
    if (rule.protocol === undefined ? !safe.includes(address.protocol) : rule.protocol !== address.protocol)
      return false
    if (rule.host === '*') return true
    if (rule.host !== address.host || (address.port !== undefined && rule.port !== address.port)) return false
    return rule.path.endsWith('*') ? address.path.startsWith(rule.path.slice(0, -1)) : rule.path === address.path
  })
}

/** The workspace keys for everything that the rules allow, as an agent registers them. */
export function cloneKeys(rules: readonly string[]): string[] {
  return rules.flatMap((text) => {
    const rule = cloneRule(text)
    if (!rule) return []
    if (rule.host === '*') return ['git:*']
    return [`git:${rule.host}/${rule.path.endsWith('*') ? rule.path : `${rule.path}#*`}`]
  })
}

/**
 * The address from which a machine clones a workspace: that of the person's own clone if it belongs to the same repository and is
 * allowed, otherwise the usual https address. Undefined if the rules allow neither.
 */
export function allowedAddress(
  rules: readonly string[],
  workspace: string,
  remote: string | undefined,
): string | undefined {
  const wanted = repositoryIn(workspace)
  if (!wanted) return undefined
  const addresses = [...(remote === undefined ? [] : [remote]), `https://${wanted.host}/${wanted.path}`]
  return addresses.find((text) => {
    const address = remoteAddress(text)
    return address?.host === wanted.host && address.path === wanted.path && mayClone(rules, address)
  })
}
