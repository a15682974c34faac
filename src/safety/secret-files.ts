import { promises } from 'node:fs'
import { basename, join, sep } from 'node:path'

const keyEndings = '{pem,key,p8,p12,pfx,pkcs12,jks,keystore,keytab,kdbx,ppk,asc,gpg,age,ovpn,kubeconfig}'
const copyEndings = '{bak,old,orig,save}'

/**
 * The names of files that contain keys, wherever they are and in any case of their letters: the single list from which our own checks and
 * git's pathspecs are made. `*` stands for any letters, `+` for letters without a dot, `{a,b}` for one of the words.
 */
const keyNames = [
  ...['*.env', '.envrc', '.{env,envrc}[._~-]*'],
  // A name with an extension, such as id_map.ts, belongs to a source file.
  ...['id_+', `id_+.${copyEndings}`, 'id_+.[0-9]*'],
  ...[`*.${keyEndings}`, `*.${keyEndings}.${copyEndings}`],
  ...['kubeconfig', 'kubeconfig[._-]*'],
  '.{npmrc,yarnrc,pypirc,netrc,pgpass,my.cnf,git-credentials,htpasswd,dockercfg,vault-token,terraformrc,s3cfg,boto,authinfo,rclone.conf}',
  '_netrc',
  ...['{credentials,secret,secrets}', '{credentials,secret,secrets}.{json,yml,yaml,toml,ini,txt,db,enc}'],
  '{service-account,service_account,client-secret,client_secret}*.json',
  '*.tfstate',
  '*.tfstate.backup',
]

/** Names that only look like those of files with keys: examples, templates, and the public halves of keys. */
const harmless = [
  /\.pub$/i,
  /^\.env\.(?:example|sample|template)/i,
  /^\.env(?:rc)?[._~-](?:example|sample|template|dist|defaults?)$/i,
]

/** The patterns that a pattern with words in braces stands for. */
function spelledOut(pattern: string): string[] {
  const [whole, words] = /\{([^}]*)\}/.exec(pattern) ?? []
  return words === undefined ? [pattern] : words.split(',').flatMap((word) => spelledOut(pattern.replace(whole!, word)))
}

let compiled: RegExp | undefined

/** Compiled when a name is first checked, because not every run of the program checks one. */
const keyName = () =>
  (compiled ??= new RegExp(`^(?:${keyNames.flatMap(spelledOut).map(nameExpression).join('|')})$`, 'is'))

const nameExpression = (pattern: string) =>
  pattern.replace(/[.*+?]/g, (sign) => ({ '.': '\\.', '*': '.*', '+': '[^.]+', '?': '.' })[sign]!)

/**
 * Git's patterns cannot repeat "a letter but a dot", so there is one pattern for each length of such a name, and longer names share the
 * last one.
 */
const longestName = 32

/**
 * The list as pathspecs of git that leave such files out, in every folder. Git supports no exception inside an exception, so examples and
 * public halves are left out as well.
 */
export function keyPathspecs(): string[] {
  const patterns = keyNames.flatMap(spelledOut).flatMap((pattern) => {
    if (!pattern.endsWith('+')) return pattern.replaceAll('+', '*')
    const [start, sign] = [pattern.slice(0, -1), '[!.]']
    const known = Array.from({ length: longestName }, (_, i) => `${start}${sign.repeat(i + 1)}`)
    return [...known, `${start}*${sign.repeat(longestName + 1)}`]
  })
  // Git compares a text with a single star several times faster than a pattern of `glob`, whose star ends at a slash.
  return patterns.flatMap((pattern) => {
    if (/^\*[^*?[]+$/.test(pattern)) return `:(exclude,icase,top)${pattern}`
    if (/[*?[]/.test(pattern)) return `:(exclude,icase,top,glob)**/${pattern}`
    // A name without brackets would also match a folder with all its content.
    return [`:(exclude,icase,top)[${pattern[0]}]${pattern.slice(1)}`, `:(exclude,icase,top)*/${pattern}`]
  })
}

/** Folders below the home in which programs keep their logins. */
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

/** Files below the home that contain logins, or commands typed into a shell. */
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

/** Settings of CLIs that also contain logins: the wall hides them from all other CLIs. */
const settingsFiles = ['.claude.json', '.aider.conf.yml']

/** Whether a file contains keys, judged by its name. */
export function isSecretName(path: string): boolean {
  const name = basename(path)
  return keyName().test(name) && !harmless.some((pattern) => pattern.test(name))
}

/** The worktrees below termaite's folder, whose files belong to a project. */
const worktrees = join('.termaite', 'worktrees')

/** Whether a path is in a place where keys are kept. */
export function isSecretPlace(path: string, home: string): boolean {
  if (path.startsWith(join(home, worktrees) + sep)) return false
  if (secretFolders(home).some((folder) => path === folder || path.startsWith(folder + sep))) return true
  if ([...secretHomeFiles, ...settingsFiles].some((file) => path === join(home, file))) return true
  return /^\/proc\/[^/]+\/environ$/.test(path) || /^\/etc\/(?:shadow|gshadow|sudoers)/.test(path)
}

export const secretFolders = (home: string) => folders.map((folder) => join(home, folder))

/** Folders of a project that contain other people's or generated files, and are too large to be searched. */
const unsearched = new Set(['.git', 'node_modules', '.venv', 'venv', 'target', '__pycache__', '.next', '.cache'])
const mostFolders = 10_000
const mostSecrets = 200

/**
 * The files of a project whose names say that they contain keys, in as many folders as can be searched before each turn. If there are too
 * many, the oldest count: a command that fills the project with such names does not uncover the earlier ones.
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
