#!/usr/bin/env node
// Old syntax and CommonJS on purpose: an older Node can read this far and say one clear sentence, and a start costs less.
var version = process.versions.node.split('.').map(Number)
if (version[0] < 22 || (version[0] === 22 && version[1] < 19)) {
  process.stderr.write(
    'termaite needs Node.js 22.19 or newer, and this is ' +
      process.versions.node +
      '. Install a newer one from nodejs.org and run it again.\n',
  )
  process.exit(2)
}
// Processes, terminals and the sandbox are those of Unix.
if (process.platform === 'win32') {
  process.stderr.write(
    'termaite runs on Linux and macOS. On Windows it runs in WSL: install that with "wsl --install", open a terminal in it, ' +
      'and install Node.js, your agent CLIs and termaite there.\n',
  )
  process.exit(2)
}
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-v')) {
  process.stdout.on('error', function (error) {
    if (error.code === 'EPIPE') return
    process.stderr.write('termaite: the output could not be written: ' + error.message + '\n')
    process.exitCode = 1
  })
  process.stdout.write(require('../package.json').version + '\n')
} else {
  start()
}

function start() {
  if (process.env.TERMAITE_MARKS) performance.mark('node')
  var fs = require('fs')
  var path = require('path')
  var vm = require('vm')
  var dist = path.join(__dirname, '..', 'dist')
  // The build's own name: code that was compiled from another text must never run in the place of this one.
  var file = cacheFile(path, fs.readFileSync(path.join(dist, 'build.txt'), 'latin1'))
  var kept = file ? keptCode(fs, file) : undefined
  var modules = new Map()

  process.on('exit', function ended(code) {
    var listeners = process.listeners('exit')
    listeners.slice(listeners.indexOf(ended) + 1).forEach(function (listener) {
      listener.call(process, code)
    })
    if (process.env.TERMAITE_MARKS) writeMarks(fs, process.env.TERMAITE_MARKS)
    keep(process.exitCode === 0 || (process.exitCode === undefined && code === 0))
    // Everything is written and nothing waits any more: tearing down the heap of a process that ends only takes time. The
    // listeners set the exit code.
    process.exit()
  })
  // A chat may run for days, and be killed at its end: see src/base/process/compiled-code.ts.
  process.once('termaite-compiled', function () {
    keep(true)
    kept = undefined
  })
  load(path.join(dist, 'main.cjs'))

  /** V8 takes compiled code only under the flags that it was made with, so that nothing is kept after they have changed. */
  function keep(succeeded) {
    if (kept) keepCompiled(fs, path, file, kept, modules, succeeded)
  }

  /**
   * Runs a file of the build as a CommonJS module, from its compiled code where there is one. Node's own loader can keep compiled
   * code too, but reads it more slowly, and never adds the functions that a later run has called.
   */
  function load(file) {
    var known = modules.get(file)
    if (known) return known.exports
    var place = path.dirname(file)
    var module = { exports: {}, script: undefined, compiled: 0 }
    modules.set(file, module)
    var cached = kept ? kept.codes.get(path.basename(file)) : undefined
    var text = '(function(exports,require,module,__filename,__dirname){' + fs.readFileSync(file, 'utf8') + '\n})'
    var script = new vm.Script(text, { filename: file, cachedData: cached })
    if (kept) module.script = script
    if (cached && !script.cachedDataRejected) module.compiled = cached.length
    var installed
    script.runInThisContext().call(
      module.exports,
      module.exports,
      function (name) {
        if (name[0] === '.') return load(path.join(place, name))
        var builtin = process.getBuiltinModule(name)
        if (builtin) return builtin
        installed = installed || require('module').createRequire(file)
        return installed(name)
      },
      module,
      file,
      place,
    )
    return module.exports
  }
}

/**
 * The file of our compiled code: it is the difference between compiling our code once and at every start. Not where Node would put
 * it: in a folder that is everybody's, somebody else's code could lie in wait.
 */
function cacheFile(path, build) {
  var env = process.env
  var place = env.NODE_COMPILE_CACHE || env.XDG_CACHE_HOME || (env.HOME && env.HOME + '/.cache')
  // It is written at the very end, when `uninstall` has taken it away.
  if (process.argv[2] === 'uninstall' || env.NODE_DISABLE_COMPILE_CACHE || !place || place[0] !== '/') return undefined
  // One turn needs other functions than the chat or a command, and each start reads all that its file has.
  var args = process.argv.slice(2)
  var isChat = args.length === 0 || args[0][0] === '-'
  var kind = !args.includes('-p') ? (isChat ? 'chat' : 'rest') : args.includes('--ephemeral') ? 'ephemeral' : 'turn'
  return path.join(place, 'termaite', build + '-' + process.version + '-' + process.arch, kind)
}

/**
 * The compiled code of the runs before: a line of JSON with the number of runs, the length of each module's code and the sum of all
 * codes, then the codes. One file, because a start in a new home waits until all of it is on the disk. V8 does not check compiled code,
 * and a damaged one would crash every start.
 */
function keptCode(fs, file) {
  try {
    var bytes = ownBytes(fs, file)
    var at = bytes.indexOf(10) + 1
    var head = JSON.parse(bytes.toString('latin1', 0, at))
    if (head.sum === sumOf(bytes.subarray(at))) {
      var codes = head.lengths.map(function (entry) {
        return [entry[0], bytes.subarray(at, (at += entry[1]))]
      })
      if (at === bytes.length) return { runs: head.runs, codes: new Map(codes) }
    }
  } catch (error) {
    // There is none yet, or it is not ours.
  }
  return { runs: 0, codes: new Map() }
}

/** The bytes of a file that this user has written: V8 would run what somebody else has put there, and a pipe would be waited for. */
function ownBytes(fs, file) {
  var open = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    var stat = fs.fstatSync(open)
    if (!stat.isFile() || stat.uid !== process.geteuid()) throw new Error('not ours')
    return fs.readFileSync(open)
  } finally {
    fs.closeSync(open)
  }
}

function sumOf(bytes) {
  return require('zlib').crc32(bytes)
}

/** Compiled code that is larger is left as it is: to read more of it would take longer than it saves. */
var mostCompiled = 1536 * 1024

/** So many runs that succeed add the functions that they called: the first turn of a project has no history, and the second has one. */
var firstRuns = 4

/**
 * Keeps the compiled code of all modules with the functions that were called, in the first runs of a build and whenever a run loaded a
 * module that had none. A start without compiled code is slower, so nothing here is an error.
 */
function keepCompiled(fs, path, file, kept, modules, succeeded) {
  try {
    var loaded = Array.from(modules).filter(function (entry) {
      return entry[1].script
    })
    var isKept = loaded.every(function (entry) {
      return entry[1].compiled
    })
    if (isKept && kept.runs >= firstRuns) return
    loaded.forEach(function (entry) {
      var module = entry[1]
      if (module.compiled > mostCompiled) return
      var code = module.script.createCachedData()
      kept.codes.set(path.basename(entry[0]), code)
      module.compiled = code.length
    })
    if (succeeded && kept.runs < firstRuns) kept.runs++
    var lengths = Array.from(kept.codes, function (entry) {
      return [entry[0], entry[1].length]
    })
    var codes = Buffer.concat(Array.from(kept.codes.values()))
    var head = Buffer.from(JSON.stringify({ runs: kept.runs, lengths: lengths, sum: sumOf(codes) }) + '\n')
    var folder = path.dirname(file)
    var made = fs.mkdirSync(folder, { recursive: true, mode: 448 })
    write(Buffer.concat([head, codes]))
    // A folder of its own for this build was made, which happens once for each build.
    if (made) removeUnused(fs, path, folder)
  } catch (error) {
    // The disk may be full, or the folder may be somebody else's.
  }

  function write(bytes) {
    var draft = path.join(path.dirname(file), '.' + process.pid + '-' + path.basename(file))
    try {
      // The bytes must be on the disk before they have their name: V8 runs what it finds there.
      fs.writeFileSync(draft, bytes, { mode: 384, flush: true })
      fs.renameSync(draft, file)
    } catch (error) {
      fs.rmSync(draft, { force: true })
      throw error
    }
  }
}

/**
 * Removes the compiled code of other builds that was not written for some days. A process of such a build goes on without it, and
 * keeps it anew; it does not remove that of this build then, which is younger. So two versions can be used in turn.
 */
function removeUnused(fs, path, own) {
  var before = Date.now() - 3 * 24 * 3600 * 1000
  var all = path.dirname(own)
  fs.readdirSync(all).forEach(function (name) {
    var folder = path.join(all, name)
    if (folder === own || !/^[0-9a-f]{16}-v\d+\.\d+\.\d+[\w.-]*$/.test(name)) return
    try {
      var kinds = fs.readdirSync(folder).map(function (kind) {
        return path.join(folder, kind)
      })
      var written = [folder].concat(kinds).map(function (place) {
        var stat = fs.lstatSync(place, { throwIfNoEntry: false })
        return stat ? stat.mtimeMs : 0
      })
      if (Math.max.apply(null, written) < before) fs.rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      // It may be somebody else's, or another process removes it right now.
    }
  })
}

/** Writes how far the run had come when; see src/base/mark.ts. */
function writeMarks(fs, file) {
  performance.mark('end')
  var moments = {}
  performance.getEntriesByType('mark').forEach(function (entry) {
    if (!(entry.name in moments)) moments[entry.name] = entry.startTime
  })
  fs.writeFileSync(file, JSON.stringify(moments))
}
