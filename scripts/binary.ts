// Makes one file of Node, termaite and everything that it needs, for machines without Node: `npm run binary`, or
// `npm run binary -- --target linux-arm64`. With --archive also what a release carries: the file with its licences, packed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { licenseTexts } from './licenses.ts'

type Manifest = { version: string; devDependencies: { node: string } }
type Lock = { packages: Record<string, { version: string; integrity?: string; optional?: boolean } | undefined> }

const root = join(import.meta.dirname, '..')
const targets = ['linux-x64', 'linux-arm64']
const { values } = parseArgs({
  options: {
    target: { type: 'string', default: `${process.platform}-${process.arch}` },
    out: { type: 'string', default: 'binaries' },
    archive: { type: 'boolean', default: false },
  },
})
const { target } = values
if (!targets.includes(target)) fail(`there is no single-file build for ${target}, only for ${targets.join(' and ')}`)

const manifest = readJson<Manifest>('package.json')
const lock = readJson<Lock>('package-lock.json')
const out = resolve(root, values.out)
const name = `termaite-${target}`

/** Packages that are not bundled: they hold native code, or find programs beside themselves. */
const beside = [
  '@lydell/node-pty',
  `@lydell/node-pty-${target}`,
  '@vscode/ripgrep',
  `@vscode/ripgrep-${target}`,
  '@napi-rs/keyring',
  `@napi-rs/keyring-${target}-gnu`,
]

/** The word in Node's executable that says whether it holds a program; it is turned when one is put in. */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

const folder = mkdtempSync(join(tmpdir(), 'termaite-binary-'))
try {
  mkdirSync(out, { recursive: true })
  make(join(out, name))
  if (values.archive) pack()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function make(file: string): void {
  const node = packageFolder(`node-${target}`, manifest.devDependencies.node)
  const packages = beside.map((one) => packageFolder(one, lock.packages[`node_modules/${one}`]!.version))
  const licenses = [
    licenseTexts('/', [node, ...packages]),
    readFileSync(join(root, 'dist', 'licenses.txt'), 'utf8'),
  ].join('\n')
  writeFileSync(join(out, 'licenses.txt'), licenses)
  const assets: Record<string, string> = Object.fromEntries(
    [...packedFiles(), 'dist/licenses.txt'].map((path) => [path, join(root, path)]),
  )
  assets['dist/licenses.txt'] = join(out, 'licenses.txt')
  packages.forEach((place, index) => {
    for (const path of globSync('**/*', { cwd: place }).filter((path) => statSync(join(place, path)).isFile()))
      assets[`node_modules/${beside[index]}/${path}`] = join(place, path)
  })
  const programs = Object.keys(assets).filter((path) => basename(path) === 'rg')
  writeFileSync(join(folder, 'build.json'), JSON.stringify({ hash: hashOf(assets), programs }))
  assets['build.json'] = join(folder, 'build.json')
  const blob = join(folder, 'program.blob')
  const config = {
    main: join(root, 'bin', 'single-file.cjs'),
    output: blob,
    disableExperimentalSEAWarning: true,
    assets,
  }
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  run(process.execPath, ['--experimental-sea-config', join(folder, 'config.json')])
  const unfinished = join(folder, name)
  copyFileSync(join(node, 'bin', 'node'), unfinished)
  chmodSync(unfinished, 0o755)
  const postject = join(root, 'node_modules', 'postject', 'dist', 'cli.js')
  run(process.execPath, [postject, unfinished, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse])
  copyFileSync(unfinished, `${file}.unfinished`)
  chmodSync(`${file}.unfinished`, 0o755)
  // A binary that runs cannot be written, but its name can be given to another file.
  renameSync(`${file}.unfinished`, file)
  console.log(`${file}: ${megabytes(file)} MB, ${Object.keys(assets).length} files inside`)
}

/** The archive that people download: the program, its licences and what changed, in a folder of its own. */
function pack(): void {
  const inside = `termaite-${manifest.version}-${target}`
  const place = join(folder, inside)
  mkdirSync(place)
  copyFileSync(join(out, name), join(place, 'termaite'))
  for (const path of ['LICENSE', 'README.md', 'CHANGELOG.md']) copyFileSync(join(root, path), join(place, path))
  copyFileSync(join(out, 'licenses.txt'), join(place, 'licenses.txt'))
  const archive = join(out, `${inside}.tar.xz`)
  run('tar', ['--owner=0', '--group=0', '-C', folder, '-cJf', archive, inside])
  const sum = createHash('sha256').update(readFileSync(archive)).digest('hex')
  // As sha256sum writes it, so that `sha256sum -c` reads it.
  writeFileSync(`${archive}.sha256`, `${sum}  ${basename(archive)}\n`)
  console.log(`${archive}: ${megabytes(archive)} MB`)
}

/** The files of the npm package, by npm itself, so that both forms of termaite hold the same. */
function packedFiles(): string[] {
  const { stdout } = run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ files: { path: string }[] }]
  return packed.files.map(({ path }) => path)
}

/** A name for these files that another build with the same ones has too. */
function hashOf(assets: Readonly<Record<string, string>>): string {
  const hash = createHash('sha256')
  for (const path of Object.keys(assets).sort())
    hash.update(`${path}\0`).update(createHash('sha256').update(readFileSync(assets[path]!)).digest())
  return hash.digest('hex').slice(0, 16)
}

/** The folder of a package: the installed one, or for another system than this one, that of the registry. */
function packageFolder(wanted: string, version: string): string {
  const installed = [
    join(root, 'node_modules', wanted),
    join(root, 'node_modules', 'node', 'node_modules', wanted),
  ].find((place) => existsSync(join(place, 'package.json')))
  if (installed) return installed
  const place = join(root, 'node_modules', '.cache', 'termaite-binary', `${wanted}-${version}`)
  if (existsSync(place)) return place
  const { stdout } = run('npm', ['pack', `${wanted}@${version}`, '--json', '--pack-destination', folder])
  const [{ filename, integrity }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [
    { filename: string; integrity: string },
  ]
  const locked = lock.packages[`node_modules/${wanted}`]?.integrity
  if (locked !== undefined && locked !== integrity) fail(`${wanted}@${version} is not the one of package-lock.json`)
  const unpacked = join(folder, 'unpacked', wanted)
  mkdirSync(unpacked, { recursive: true })
  run('tar', [
    '-C',
    unpacked,
    '--strip-components=1',
    '-xzf',
    join(
      folder,
      filename.replace(/^@|\//g, (sign) => (sign === '/' ? '-' : '')),
    ),
  ])
  mkdirSync(dirname(place), { recursive: true })
  run('cp', ['-r', unpacked, place])
  return place
}

function run(program: string, args: readonly string[]): { stdout: string } {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (error || status !== 0) fail(`${program} ${args[0]} failed: ${error?.message ?? (stderr || stdout)}`)
  return { stdout }
}

function fail(why: string): never {
  console.error(`npm run binary: ${why}`)
  process.exit(1)
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as T
}

function megabytes(file: string): number {
  return Math.round(statSync(file).size / 1e6)
}
