// The first code of the single-file build: see scripts/binary.ts. The executable is Node, and the program lies in it as assets,
// which are unpacked once for each build, because Node loads modules, native code and threads only from files.
const {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} = require('node:fs')
const { createRequire, Module } = require('node:module')
const { tmpdir } = require('node:os')
const { basename, dirname, isAbsolute, join, resolve } = require('node:path')
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
      const isNew = !existsSync(folder)
      if (isNew) unpackAt(folder)
      if (isOwn(folder)) {
        use(folder)
        if (isNew) removeUnused(folder)
        return folder
      }
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

/** A folder is known to be in use by the time of its last start, and by every process of it that runs, which has it open. */
function use(folder) {
  try {
    const now = Date.now() / 1000
    utimesSync(folder, now, now)
    openSync(folder, 'r')
  } catch {
    // On a disk that cannot be written nothing is removed either.
  }
}

/** Removes the programs of other builds that were not started for a month and that no process runs. */
function removeUnused(own) {
  const before = Date.now() - 30 * 24 * 3600 * 1000
  try {
    for (const name of readdirSync(dirname(own))) {
      const folder = join(dirname(own), name)
      const isProgram = /^program-[0-9a-f]{16}(?:\.\w{6})?$/.test(name) && name !== basename(own)
      if (isProgram && lstatSync(folder).mtimeMs < before && !isOpen(folder))
        rmSync(folder, { recursive: true, force: true })
    }
  } catch {
    // Some other time: a cache that is larger than it has to be harms nobody.
  }
}

/** Whether a process of this person has a folder open. */
function isOpen(folder) {
  const place = realpathSync(folder)
  const inProc = (...path) => {
    try {
      return readdirSync(join('/proc', ...path))
    } catch {
      // The process has ended, or is somebody else's.
      return []
    }
  }
  const opened = (pid, fd) => {
    try {
      return readlinkSync(join('/proc', pid, 'fd', fd))
    } catch {
      return undefined
    }
  }
  return inProc().some((pid) => /^\d+$/.test(pid) && inProc(pid, 'fd').some((fd) => opened(pid, fd) === place))
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
