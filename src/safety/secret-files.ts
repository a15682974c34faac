import { promises } from 'node:fs'
import { basename, join, sep } from 'node:path'

/** Names of files that hold keys, wherever they are; examples and templates hold none. */
const names: readonly RegExp[] = [
  /^\.env(?:rc)?(?:[._~-](?!(?:example|sample|template|dist|defaults?)$).*)?$/i,
  /^.+\.env$/,
  // A name with an ending, such as id_map.ts, is a source's.
  /^id_[a-z0-9_-]+(?:\.(?:bak|old|orig|save|\d+))?$/i,
  /\.(?:pem|key|p8|p12|pfx|pkcs12|jks|keystore|keytab|kdbx|ppk|asc|gpg|age|ovpn|kubeconfig)(?:\.(?:bak|old|orig|save))?$/i,
  /^kubeconfig(?:[._-].+)?$/i,
  /^\.(?:npmrc|yarnrc|pypirc|netrc|pgpass|my\.cnf|git-credentials|htpasswd|dockercfg|vault-token|terraformrc|s3cfg|boto|authinfo|rclone\.conf)$/,
  /^_netrc$/,
  /^(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|ini|txt|db|enc))?$/i,
  /^(?:service[-_]account|client[-_]secret).*\.json$/i,
  /\.tfstate(?:\.backup)?$/,
  /^master\.key$/,
]

/** Names that only look like those of secret files. */
const harmless = [/\.pub$/, /^\.env\.(?:example|sample|template)/]

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
const mostFolders = 1_000
const mostSecrets = 200

/** The files of a project that hold keys by their names, in as many folders as can be looked through before each command. */
export async function secretFilesIn(root: string): Promise<string[]> {
  const found: string[] = []
  const waiting = [root]
  for (let looked = 0; waiting.length > 0 && looked < mostFolders && found.length < mostSecrets;) {
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
  return found.slice(0, mostSecrets)
}
