import { promises } from 'node:fs'
import { basename, join, sep } from 'node:path'

/** Names of files that hold keys, wherever they are and however they are written; examples and templates hold none. */
const names: readonly RegExp[] = [
  /^\.env(?:rc)?(?:[._~-](?!(?:example|sample|template|dist|defaults?)$).*)?$/i,
  /^.+\.env$/i,
  // A name with an ending, such as id_map.ts, is a source's.
  /^id_[a-z0-9_-]+(?:\.(?:bak|old|orig|save|\d+))?$/i,
  /\.(?:pem|key|p8|p12|pfx|pkcs12|jks|keystore|keytab|kdbx|ppk|asc|gpg|age|ovpn|kubeconfig)(?:\.(?:bak|old|orig|save))?$/i,
  /^kubeconfig(?:[._-].+)?$/i,
  /^\.(?:npmrc|yarnrc|pypirc|netrc|pgpass|my\.cnf|git-credentials|htpasswd|dockercfg|vault-token|terraformrc|s3cfg|boto|authinfo|rclone\.conf)$/i,
  /^_netrc$/i,
  /^(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|ini|txt|db|enc))?$/i,
  /^(?:service[-_]account|client[-_]secret).*\.json$/i,
  /\.tfstate(?:\.backup)?$/i,
]

const copies = ['', '.bak', '.old', '.orig', '.save']
const keyEndings =
  'pem key p8 p12 pfx pkcs12 jks keystore keytab kdbx ppk asc gpg age ovpn kubeconfig tfstate tfstate.backup'.split(' ')
/** As git's patterns have it: no dot near the end of a name, so that the name has no ending. */
const noEnding = [1, 2, 3, 4].map((length) => '[!.]'.repeat(length))

/** The same names as patterns of git, which sees no difference between large and small letters here. They may match a name more. */
export const secretGlobs: readonly string[] = [
  ...['.env', '.env[._~-]*', '.envrc', '.envrc[._~-]*', '*.env'],
  ...[...noEnding, '*[!.][!.][!.][!.][!.]', '*.[0-9]*', ...copies.slice(1).map((copy) => `*${copy}`)].map(
    (rest) => `id_${rest}`,
  ),
  ...keyEndings.flatMap((ending) => copies.map((copy) => `*.${ending}${copy}`)),
  ...['kubeconfig', 'kubeconfig[._-]*', '_netrc'],
  ...['npmrc', 'yarnrc', 'pypirc', 'netrc', 'pgpass', 'my.cnf', 'git-credentials', 'htpasswd', 'dockercfg'].map(
    (name) => `.${name}`,
  ),
  ...['vault-token', 'terraformrc', 's3cfg', 'boto', 'authinfo', 'rclone.conf'].map((name) => `.${name}`),
  ...['credentials', 'secret', 'secrets'].flatMap((name) =>
    ['', ...'.json .yaml .yml .toml .ini .txt .db .enc'.split(' ')].map((ending) => `${name}${ending}`),
  ),
  ...['service[-_]account*.json', 'client[-_]secret*.json'],
]

/** Names that only look like those of secret files. */
const harmless = [/\.pub$/i, /^\.env\.(?:example|sample|template)/i]

/** Folders below the home where programs keep their logins. */
const folders = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.config/op',
  '.password-store',
  '.local/share/keyrings',
  '.mozilla',
  '.config/google-chrome',
  'Library/Keychains',
  '.termaite',
  '.claude',
  '.codex',
  '.gemini',
  '.copilot',
  '.qwen',
  '.pi',
  '.cline',
  '.aider',
  '.cursor',
  '.config/opencode',
  '.local/share/opencode',
  '.config/amp',
  '.local/share/amp',
  '.config/crush',
  '.local/share/crush',
  '.config/github-copilot',
  '.config/rclone',
  '.terraform.d',
]

/** Files below the home that hold logins, or what was typed into a shell. */
export const secretHomeFiles: readonly string[] = [
  '.config/git/credentials',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.psql_history',
  '.node_repl_history',
]

/** Settings of CLIs that hold logins, too: the wall hides them from all but their own CLI. */
const settingsFiles = ['.claude.json', '.aider.conf.yml']

/** Whether a file holds keys, judged by its name. */
export function isSecretName(path: string): boolean {
  const name = basename(path)
  return names.some((pattern) => pattern.test(name)) && !harmless.some((pattern) => pattern.test(name))
}

/** The worktrees below termaite's folder: their files are a project's. */
const worktrees = join('.termaite', 'worktrees')

/** Whether a path lies in a place where keys are kept. */
export function isSecretPlace(path: string, home: string): boolean {
  if (path.startsWith(join(home, worktrees) + sep)) return false
  if (secretFolders(home).some((folder) => path === folder || path.startsWith(folder + sep))) return true
  if ([...secretHomeFiles, ...settingsFiles].some((file) => path === join(home, file))) return true
  return /^\/proc\/[^/]+\/environ$/.test(path) || /^\/etc\/(?:shadow|gshadow|sudoers)/.test(path)
}

export const secretFolders = (home: string) => folders.map((folder) => join(home, folder))

/** Folders of a project that hold other people's files or generated ones, and are too large to be looked through. */
const unsearched = new Set(['.git', 'node_modules', '.venv', 'venv', 'target', '__pycache__', '.next', '.cache'])
const mostFolders = 10_000
const mostSecrets = 200

/**
 * The files of a project that hold keys by their names, in as many folders as can be looked through before each turn. Of too many the
 * oldest count: a command that fills the project with such names does not uncover those that were there before.
 */
export async function secretFilesIn(root: string): Promise<string[]> {
  const found: string[] = []
  const waiting = [root]
  for (let looked = 0; waiting.length > 0 && looked < mostFolders;) {
    const folders = waiting.splice(0, 32)
    looked += folders.length
    const lists = await Promise.all(
      folders.map((folder) => promises.readdir(folder, { withFileTypes: true }).catch(() => [])),
    )
    for (const [at, entries] of lists.entries())
      for (const entry of entries) {
        const path = join(folders[at]!, entry.name)
        if (entry.isDirectory() && !unsearched.has(entry.name)) waiting.push(path)
        else if (entry.isFile() && isSecretName(path)) found.push(path)
      }
  }
  if (found.length <= mostSecrets) return found
  const born = new Map(
    await Promise.all(
      found.map(async (path) => [path, (await promises.lstat(path).catch(() => undefined))?.birthtimeMs ?? 0] as const),
    ),
  )
  return found.toSorted((a, b) => born.get(a)! - born.get(b)!).slice(0, mostSecrets)
}
