import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Needs = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> }
type Manifest = Needs & { name: string; version: string; bin: Record<string, string>; engines: Record<string, string> }
type Lock = { lockfileVersion: number; packages: Record<string, Needs & { dev?: boolean }> }

const root = join(import.meta.dirname, '..')

/** The words that start the program under test: Node and the installed program, or the single file alone. */
export type Start = [string, ...string[]]

/** The variables by which a runner hands the program to tests and benches: the words as a JSON list, because a path may hold spaces. */
const [startVariable, packageVariable] = ['TERMAITE_TEST_START', 'TERMAITE_TEST_PACKAGE']

/** Hands the installed package to the tests, started by this Node or by the words given. */
export function handProgram({ folder, program }: InstalledPackage, start: Start = [process.execPath, program]): void {
  process.env[startVariable] = JSON.stringify(start)
  process.env[packageVariable] = join(folder, 'node_modules', 'termaite')
  // Modules that are found by this variable would hide that the package lacks them.
  delete process.env.NODE_PATH
}

export const handedStart = (): Start => JSON.parse(handed(startVariable)) as Start

export const handedPackage = (): string => handed(packageVariable)

function handed(variable: string): string {
  const text = process.env[variable]
  if (text === undefined)
    throw new Error(
      `Tests and benches that start termaite start the installed package, and ${variable} does not name it. ` +
        'Run them with `npm test -- <part of a path>` or `npm run bench`, which pack and install it.',
    )
  return text
}

export type InstalledPackage = { folder: string; tarball: string; program: string }

/**
 * Packs what was built, and installs it as a person does: into an empty folder outside the checkout, with the dependencies that our
 * lock file names and none of the development dependencies. The folder goes when this process ends.
 */
export function installedPackage(): InstalledPackage {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-installed-')))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  // Tests that run the program as another user need it too.
  chmodSync(folder, 0o755)
  const tarball = packedTarball(folder)
  const manifest = readJson<Manifest>(join(root, 'package.json'))
  const dependencies = { [manifest.name]: 'file:termaite.tgz' }
  write('package.json', { name: 'person', version: '1.0.0', private: true, dependencies })
  write('package-lock.json', lockOf(manifest, dependencies))
  npm(folder, ['ci', '--omit=dev', '--prefer-offline'])
  return { folder, tarball, program: join(folder, 'node_modules', '.bin', 'termaite') }

  function write(name: string, value: unknown): void {
    writeFileSync(join(folder, name), JSON.stringify(value, undefined, 2))
  }
}

/** A Node of exactly this version, from the registry; the folder goes when this process ends. */
export function installedNode(version: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-node-')))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  const name = `node-${process.platform}-${process.arch}`
  npm(folder, ['install', '--no-save', '--no-package-lock', '--prefix', folder, `${name}@${version}`])
  return join(folder, 'node_modules', name, 'bin', 'node')
}

/** The single file of this machine, which `npm run binary` has made. */
export function singleFile(): string {
  const file = join(root, 'binaries', `termaite-${process.platform}-${process.arch}`)
  if (!existsSync(file)) throw new Error(`${file} is not there: make it with npm run binary`)
  return file
}

/** The tarball that `npm publish` would send, in this folder. The program must have been built. */
export function packedTarball(folder: string): string {
  const place = join(folder, 'packed')
  mkdirSync(place)
  const [packed] = JSON.parse(npm(root, ['pack', '--json', '--ignore-scripts', '--pack-destination', place])) as [
    { filename: string },
  ]
  const tarball = join(folder, 'termaite.tgz')
  renameSync(join(place, packed.filename), tarball)
  rmSync(place, { recursive: true })
  return tarball
}

/** The part of our lock file that the package brings along when somebody installs it. */
function lockOf(manifest: Manifest, dependencies: Record<string, string>): Lock {
  const { lockfileVersion, packages } = readJson<Lock>(join(root, 'package-lock.json'))
  const { version, bin, engines, dependencies: needed, optionalDependencies } = manifest
  const cut: Lock['packages'] = {
    '': { dependencies },
    [`node_modules/${manifest.name}`]: {
      version,
      resolved: 'file:termaite.tgz',
      bin,
      engines,
      dependencies: needed,
      optionalDependencies,
    } as Needs,
  }
  const add = (needs: Needs): void => {
    for (const name of Object.keys({ ...needs.dependencies, ...needs.optionalDependencies })) {
      const place = `node_modules/${name}`
      if (place in cut) continue
      const found = packages[place]
      if (found === undefined) throw new Error(`package-lock.json does not have ${name}: run npm install`)
      cut[place] = found
      add(found)
    }
  }
  add(manifest)
  return { lockfileVersion, packages: cut }
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T
}

/**
 * The environment in which a package is installed as by a person, not as by a script of this package: without what npm says of the
 * script, and without the flags of the `npm exec` that may have started it, which a second `npm exec` would take for its own.
 */
export const npmEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)|^npm_config_(call|package)$/.test(name)),
  )

/** Runs npm in a folder and gives what it printed. */
export function npm(folder: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: npmEnvironment(),
  })
  if (error || status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${error?.message ?? (stderr || stdout)}`)
  return stdout
}
