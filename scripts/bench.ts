// Packs and installs what was built, and runs a bench against it: `node scripts/bench.ts bench/run.ts [names…]`.
import { spawnSync } from 'node:child_process'
import { handProgram, installedPackage } from './installed-package.ts'

handProgram(installedPackage())
const { status } = spawnSync(process.execPath, process.argv.slice(2), { stdio: 'inherit' })
process.exitCode = status ?? 1
