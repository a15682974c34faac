// The first code of the single-file build: see scripts/binary.ts. The executable is Node, and the program lies in it as assets,
// which are unpacked once for each build, because Node loads modules, native code and threads only from files.
const {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs')
const { createRequire, Module } = require('node:module')
const { tmpdir } = require('node:os')
const { dirname, isAbsolute, join, resolve } = require('node:path')
const { pathToFileURL } = require('node:url')
const { getAsset, getAssetKeys, getRawAsset } = require('node:sea')

const build = JSON.parse(getAsset('build.json', 'utf8'))
const args = process.argv.slice(2)
if (args[0] === '--as-node') runJavaScript(args.slice(1))
else createRequire(join(programFolder(), 'bin', 'termaite.cjs'))('./termaite.cjs')

/** Does what Node does with these arguments: a file, or `-e` with code, and behind them what the program finds as its own. */
function runJavaScript([first, ...rest]) {
  if (first === '-e') {
    process.argv = [process.execPath, ...rest.slice(1)]
    const evaluated = moduleAt(join(process.cwd(), '[eval]'))
    globalThis.require = createRequire(evaluated.filename)
    evaluated._compile(rest[0], '[eval]')
    return
  }
  const file = resolve(first)
  process.argv = [process.execPath, file, ...rest]
  // This file itself can import nothing but what is a part of Node.
  const loader = moduleAt(file)
  loader._compile('module.exports = (url) => import(url)', file)
  loader.exports(pathToFileURL(file).href)
}

function moduleAt(filename) {
  const made = new Module(filename)
  made.filename = filename
  made.paths = Module._nodeModulePaths(dirname(filename))
  return made
}

/** The folder of the unpacked program: in the person's cache, or where that cannot be, in one that is removed at the end. */
function programFolder() {
  const { HOME, XDG_CACHE_HOME } = process.env
  const cache = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'))
  if (cache && isAbsolute(cache)) {
    const folder = join(cache, 'termaite', `program-${build.hash}`)
    try {
      if (!existsSync(folder)) unpackAt(folder)
      if (isOwn(folder)) return folder
    } catch {
      // A read-only or full disk, or a cache that is somebody else's: the temporary folder may still do.
    }
  }
  return temporaryFolder()
}

/** The folder appears whole or not at all, also where two processes start at once. */
function unpackAt(folder) {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  const unfinished = mkdtempSync(`${folder}.`)
  try {
    unpackInto(unfinished)
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}

function unpackInto(folder) {
  for (const name of getAssetKeys().filter((key) => key !== 'build.json')) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, new Uint8Array(getRawAsset(name)))
    if (build.programs.includes(name)) chmodSync(path, 0o755)
  }
}

/** Code that somebody else may have written, or can change, is not run. */
function isOwn(folder) {
  const { uid, mode } = lstatSync(folder)
  return uid === process.getuid() && (mode & 0o022) === 0
}

function temporaryFolder() {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'termaite-program-'))
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    unpackInto(folder)
    return folder
  } catch (error) {
    process.stderr.write(
      `termaite: the program could not be unpacked: ${error.message}. ` +
        'Set XDG_CACHE_HOME or TMPDIR to a folder that you may write to, with 50 MB free.\n',
    )
    process.exit(1)
  }
}
