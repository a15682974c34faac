import type { Env } from '../../base/env.ts'
import { isAbsolute, join } from 'node:path'
import { isThere, namesIn } from '../../base/files/files.ts'
import { isWithin, realIfThere } from '../../base/files/real-path.ts'

type Environment = Env

/** A place in which a person installs compilers, interpreters or programs; it is shown read-only behind the wall. */
type Toolchain = {
  /** The usual places: relative to the home, or absolute. */
  at: readonly string[]
  /** The variable that moves the place. Behind the wall it is always set, because the home is different there. */
  variable?: string
  /** The parts of the place that are shown; the whole place if this is missing. */
  parts?: readonly string[]
  /** Files and folders in it that may contain a login: they are hidden. A `*` stands for any name. */
  minus?: readonly string[]
}

/** The settings of a global npm, which may contain a token. */
const npmrc = 'etc/npmrc'

/** The one table of the parts of a home that are shown, on Linux and on macOS. */
const toolchains: readonly Toolchain[] = [
  // JavaScript
  { at: ['.nvm', '.config/nvm'], variable: 'NVM_DIR', minus: [`versions/node/*/${npmrc}`] },
  {
    at: ['.local/share/fnm', '.fnm', 'Library/Application Support/fnm'],
    variable: 'FNM_DIR',
    minus: [`node-versions/*/installation/${npmrc}`],
  },
  { at: ['.volta'], variable: 'VOLTA_HOME', minus: [`tools/image/node/*/${npmrc}`] },
  { at: ['.nodenv'], variable: 'NODENV_ROOT', minus: [`versions/*/${npmrc}`] },
  { at: ['.bun'], variable: 'BUN_INSTALL', parts: ['bin', 'install/global'] },
  { at: ['.deno'], variable: 'DENO_INSTALL', parts: ['bin'] },
  { at: ['.local/share/pnpm', 'Library/pnpm'], variable: 'PNPM_HOME', minus: [npmrc, '.npmrc', 'rc'] },
  { at: ['.cache/ms-playwright', 'Library/Caches/ms-playwright'], variable: 'PLAYWRIGHT_BROWSERS_PATH' },
  { at: ['.cache/Cypress', 'Library/Caches/Cypress'], variable: 'CYPRESS_CACHE_FOLDER' },
  // Python
  { at: ['.pyenv'], variable: 'PYENV_ROOT', minus: ['versions/*/pip.conf', 'versions/*/.condarc'] },
  { at: ['.local/share/uv/python'], variable: 'UV_PYTHON_INSTALL_DIR' },
  { at: ['.local/share/uv/tools'] },
  { at: ['.local/share/pipx', '.local/pipx'], minus: ['venvs/*/pip.conf'] },
  ...['miniconda3', 'anaconda3', 'miniforge3', 'mambaforge', 'micromamba'].map((name) => ({
    at: [name, `.${name}`, `/opt/${name}`],
    minus: ['.condarc', 'condarc', 'condarc.d', 'pip.conf', 'envs/*/.condarc', 'envs/*/pip.conf'],
  })),
  // Rust and Go. Registry logins are in other files of these homes.
  { at: ['.rustup'], variable: 'RUSTUP_HOME' },
  { at: ['.cargo'], parts: ['bin'] },
  { at: ['go'], parts: ['bin'] },
  { at: ['sdk', '.local/go'] },
  // Java, Android and .NET; the .NET home also has the person's certificates.
  { at: ['.sdkman'], variable: 'SDKMAN_DIR' },
  { at: ['.jdks', '.jenv', '.jabba'] },
  { at: ['Android/Sdk', 'Library/Android/sdk'], variable: 'ANDROID_HOME' },
  {
    at: ['.dotnet'],
    parts: ['dotnet', 'host', 'packs', 'sdk', 'sdk-manifests', 'shared', 'templates', 'tools', 'metadata'],
  },
  // Ruby and others
  { at: ['.rbenv'], variable: 'RBENV_ROOT' },
  { at: ['.rvm'] },
  { at: ['.gem'], parts: ['ruby'] },
  { at: ['.ghcup'], parts: ['bin', 'ghc', 'hls', 'cabal', 'stack'] },
  { at: ['.elan'], variable: 'ELAN_HOME' },
  // Installers of many languages
  { at: ['.local/share/mise'], variable: 'MISE_DATA_DIR' },
  { at: ['.asdf'], variable: 'ASDF_DATA_DIR' },
  { at: ['/home/linuxbrew/.linuxbrew', '.linuxbrew'], minus: ['etc', 'var'] },
  // Files that only name versions
  { at: ['.tool-versions'] },
  { at: ['.node-version'] },
  { at: ['.python-version'] },
  { at: ['.ruby-version'] },
]

/** Variables of the person that name an installation anywhere. */
const installations = [
  ...['JAVA_HOME', 'JDK_HOME', 'MAVEN_HOME', 'M2_HOME', 'GRADLE_HOME', 'ANT_HOME', 'KOTLIN_HOME', 'SCALA_HOME'],
  ...['GOROOT', 'ANDROID_SDK_ROOT', 'ANDROID_NDK_HOME', 'FLUTTER_ROOT', 'DOTNET_ROOT', 'CONDA_PREFIX', 'VIRTUAL_ENV'],
  ...['NVM_BIN', 'GEM_HOME'],
]

/** Caches that package managers only read, in addition to the project's own. */
const secondLayers = { maven: '.m2/repository', gradle: '.gradle/caches', gradlePart: 'modules-2' }

/** The installed toolchains: the shown places, the hidden places in them, and the variables by which programs find them. */
type Toolchains = { shown: string[]; hidden: string[]; variables: Record<string, string> }

/** Finds the toolchains of a person. A place that is the home itself, or contains it, does not count. */
export function toolchainsOf(home: string, env: Environment): Toolchains {
  const found: Toolchains = { shown: [], hidden: [], variables: {} }
  for (const { at, variable, parts, minus = [] } of toolchains) {
    const said = variable === undefined ? undefined : env[variable]
    const usual = at.map((place) => (isAbsolute(place) ? place : join(home, place)))
    const places = said !== undefined && isAbsolute(said) ? [said, ...usual] : usual
    const there = places.filter((place) => isPlace(place, home))
    if (there.length === 0) continue
    if (variable !== undefined) found.variables[variable] = there[0]!
    for (const place of there) {
      found.shown.push(...(parts ? parts.map((part) => join(place, part)).filter(isThere) : [place]))
      found.hidden.push(...minus.flatMap((pattern) => matches(place, pattern.split('/'))))
    }
  }
  for (const name of installations) if (isPlace(env[name] ?? '', home)) found.shown.push(env[name]!)
  const [maven, gradle] = [secondLayers.maven, secondLayers.gradle].map((place) => join(home, place)) as [
    string,
    string,
  ]
  if (isThere(maven)) {
    found.shown.push(maven)
    found.variables.MAVEN_OPTS = [env.MAVEN_OPTS, `-Dmaven.repo.local.tail=${maven}`].filter(Boolean).join(' ')
  }
  if (isThere(join(gradle, secondLayers.gradlePart))) {
    found.shown.push(join(gradle, secondLayers.gradlePart))
    found.variables.GRADLE_RO_DEP_CACHE = gradle
  }
  return found
}

/** Whether a path can be shown without the rest of the home. */
export function isPlace(path: string, home: string): boolean {
  if (!isAbsolute(path)) return false
  const real = realIfThere(path)
  return real !== undefined && !isWithin(real, home) && !isWithin(real, realIfThere(home) ?? home)
}

/** The paths below a folder that match a pattern. */
function matches(folder: string, [first = '', ...rest]: readonly string[]): string[] {
  const names = first === '*' ? namesIn(folder) : [first]
  const paths = names.map((name) => join(folder, name)).filter(isThere)
  return rest.length === 0 ? paths : paths.flatMap((path) => matches(path, rest))
}
