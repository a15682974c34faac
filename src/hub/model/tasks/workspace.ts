/**
 * A workspace is the place that a task is about. It is one text, its key, in one of three forms:
 *
 * - `git:github.com/acme/shop#1f2e3d4c5b6a`: a repository, by its remote and the first commit of its history. The part after the `#` is
 * empty if the history is not known, as in a shallow clone.
 * - `at:build-7:/srv/shop`: a folder of one machine, for a folder without a remote whose hub is on another machine.
 * - `/srv/shop`: a folder of the hub's machine; every workspace that an older termaite stored has this form.
 */
const repositoryMark = 'git:'
const folderMark = 'at:'

/** How many characters of the hash of a first commit are used. */
const shortCommit = 12

/** A repository as git describes it: the address of its remote, and the first commits of its history, oldest first. */
export type RepositoryFacts = { remote: string; first: readonly string[] }

/** The address of a repository: the protocol, the host (with its port unless that is the usual one), and the path. */
export type RemoteAddress = { protocol: 'https' | 'http' | 'ssh' | 'git'; host: string; port?: number; path: string }

/** Hosts that ignore case in repository names. */
const caseless = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org', 'dev.azure.com'])

/** Other names under which a host serves SSH, for networks in which only the https port is open. */
const otherNames: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
  'ssh.dev.azure.com': 'dev.azure.com',
}

const usualPorts = { https: 443, http: 80, ssh: 22, git: 9418 } as const

/**
 * Parses the address of a remote in any of git's forms, without the login. Undefined for an address that only this machine understands (a
 * path, `file:`), that makes git start a program (`ext::`), or that cannot be parsed.
 */
export function remoteAddress(text: string): RemoteAddress | undefined {
  // Git takes an argument that begins with a hyphen for an option.
  if (text === '' || text.startsWith('-') || /[\s\p{Cc}]/u.test(text)) return undefined
  const url = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text)
  if (url) return fromUrl(url[1]!.toLowerCase(), text)
  // Remote helpers such as `ext::sh -c …`: git would start a program of that name.
  if (/^[a-z0-9][a-z0-9+.-]*::/i.test(text)) return undefined
  const [, host, path] = /^(?:[^@/:]+@)?(\[[^\]]+\]|[^/:[\]]+):(.+)$/s.exec(text) ?? []
  return host === undefined || path === undefined ? undefined : addressOf('ssh', host, undefined, path)
}

function fromUrl(scheme: string, text: string): RemoteAddress | undefined {
  const protocol = scheme.replace(/^git\+|\+git$/, '')
  if (protocol !== 'https' && protocol !== 'http' && protocol !== 'ssh' && protocol !== 'git') return undefined
  if (isUpward(text)) return undefined
  // The address is parsed as an http one, because not every version of Node parses the host of other protocols.
  const parsed = URL.parse(text.replace(/^[^:]+/, 'http'))
  if (!parsed || parsed.hostname === '' || parsed.search !== '' || parsed.hash !== '') return undefined
  const [, typed] = /^[^:]+:\/\/(?:[^/@]*@)?(?:\[[^\]]*\]|[^/:]*):(\d+)/.exec(text) ?? []
  const port = typed === undefined ? undefined : Number(typed)
  return addressOf(protocol, parsed.hostname, port, parsed.pathname)
}

/** Whether a path leads upward, and so means a different place for each reader. */
const isUpward = (text: string) => (plainText(text) ?? '..').split('/').includes('..')

function addressOf(
  protocol: RemoteAddress['protocol'],
  named: string,
  port: number | undefined,
  typed: string,
): RemoteAddress | undefined {
  const hostname = URL.parse(`http://${named}/`)?.hostname
  if (hostname === undefined || hostname === '' || hostname.startsWith('-')) return undefined
  const host = otherNames[hostname] ?? hostname
  const decoded = plainText(typed)
  if (decoded === undefined) return undefined
  const parts = decoded.split('/').filter((part) => part !== '')
  const last = parts.at(-1)?.replace(/\.git$/i, '')
  if (last === undefined || last === '' || parts.some((part) => part === '..' || part === '.' || part.startsWith('-')))
    return undefined
  const whole = [...parts.slice(0, -1), last]
  const path = (host === 'dev.azure.com' ? azurePath(whole) : whole).join('/')
  if (/[\s#*?\\\p{Cc}]/u.test(path)) return undefined
  const isAlias = host !== hostname
  const known = port === undefined || isAlias || port === usualPorts[protocol] ? {} : { port }
  return { protocol, host, ...known, path: caseless.has(host) ? path.toLowerCase() : path }
}

/** Azure writes one repository as org/project/_git/name over https, and as v3/org/project/name over SSH. */
function azurePath(parts: string[]): string[] {
  return (parts[0] === 'v3' ? parts.slice(1) : parts).filter((part) => part !== '_git')
}

function plainText(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The remote as part of a key. Ports are left out, because one host serves the same repository over several protocols. */
const placeOf = ({ host, path }: RemoteAddress) => `${host}/${path}`

/** The key of a repository; undefined if its remote has no meaning on another machine. */
export function repositoryKey({ remote, first }: RepositoryFacts): string | undefined {
  const address = remoteAddress(remote)
  return address && `${repositoryMark}${placeOf(address)}#${(first[0] ?? '').slice(0, shortCommit)}`
}

/** The key of a folder of one machine. */
export const folderKey = (machine: string, path: string) => `${folderMark}${machine}:${path}`

/**
 * All keys by which tasks may name a repository that an agent has: one with each of its first commits, and one without, for a person
 * whose clone lacks the history. A clone without a known history takes tasks of any history of its remote.
 */
export function repositoryKeys({ remote, first }: RepositoryFacts): string[] {
  const address = remoteAddress(remote)
  if (!address) return []
  const base = `${repositoryMark}${placeOf(address)}#`
  return first.length === 0 ? [`${base}*`] : [...first.map((commit) => base + commit.slice(0, shortCommit)), base]
}

/**
 * Whether an agent with these keys has a workspace or may clone it. A repository key that ends with `*` covers all keys with the same
 * beginning.
 */
export function hasWorkspace(keys: readonly string[], workspace: string): boolean {
  return keys.some((key) => key === workspace || (isPattern(key) && workspace.startsWith(key.slice(0, -1))))
}

/** Whether a key of an agent covers several repositories. */
export const isPattern = (key: string) => key.startsWith(repositoryMark) && key.endsWith('*')

/** The remote and the first commit in the key of a repository; undefined for a folder. */
export function repositoryIn(workspace: string): { host: string; path: string; first: string } | undefined {
  const [, host, path, first] = /^git:([^/#]+)\/([^#]+)#([0-9a-f]*)$/.exec(workspace) ?? []
  return host === undefined || path === undefined || first === undefined ? undefined : { host, path, first }
}

/** The machine and the path of a folder; undefined for a repository. A path alone is on the machine of the hub. */
export function folderIn(workspace: string): { machine?: string; path: string } | undefined {
  const [, machine, path] = /^at:([^:]*):(.*)$/s.exec(workspace) ?? []
  if (machine !== undefined && path !== undefined) return { machine, path }
  return workspace.startsWith(repositoryMark) ? undefined : { path: workspace }
}

/** The key that stands for the place of an agent: that of its repository, otherwise that of its folder. */
export function mainKey({ workspace, workspaces = [] }: { workspace: string; workspaces?: readonly string[] }): string {
  return workspaces.find((key) => repositoryIn(key)) ?? workspace
}

/** A workspace in the form that screens show: "acme/shop" for a repository, otherwise the path and its machine. */
export function workspaceName(workspace: string): string {
  const repository = repositoryIn(workspace)
  if (repository) return repository.path.split('/').slice(-2).join('/')
  const folder = folderIn(workspace)
  return folder?.machine === undefined ? (folder?.path ?? workspace) : `${folder.path} on ${folder.machine}`
}

/** The full name of a workspace, if there is room for it: "github.com/acme/shop". */
export function wholeName(workspace: string): string {
  const repository = repositoryIn(workspace)
  return repository ? `${repository.host}/${repository.path}` : workspaceName(workspace)
}

/** The place from which a person added a task: the folder on their machine, and for a repository the remote, the branch and the commit. */
export type TaskOrigin = { machine: string; path: string; remote?: string; branch?: string; commit?: string }

/** The address from which a repository is cloned: in the form of the person's own clone, without a login. */
export function cloneAddress(remote: string): string | undefined {
  const address = remoteAddress(remote)
  if (!address) return undefined
  const [, scheme, user, rest] = /^([a-z+]+:\/\/)(?:([^@/]*)@)?(.*)$/is.exec(remote) ?? []
  // The short SSH form cannot contain a password.
  if (scheme === undefined) return remote
  // The user of an SSH address is part of the server's path to the repository; any other login is a secret.
  const name = address.protocol === 'ssh' ? user?.split(':')[0] : undefined
  return `${scheme.toLowerCase()}${name ? `${name}@` : ''}${rest}`
}
