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
if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-v')) {
  process.stdout.on('error', function (error) {
    if (error.code === 'EPIPE') return
    process.stderr.write('termaite: the output could not be written: ' + error.message + '\n')
    process.exitCode = 1
  })
  process.stdout.write(require('../package.json').version + '\n')
} else {
  // The cache is the difference between reading our code once and at every start. Not where Node would put it: in a
  // folder that is everybody's, somebody else's code could lie in wait.
  var env = process.env
  var place = env.XDG_CACHE_HOME || (env.HOME && env.HOME + '/.cache')
  // It is written at the very end, when `uninstall` has taken it away.
  if (process.argv[2] !== 'uninstall' && (env.NODE_COMPILE_CACHE || (place && place[0] === '/')))
    require('node:module').enableCompileCache(env.NODE_COMPILE_CACHE || place + '/termaite')
  import('../dist/main.js')
}
