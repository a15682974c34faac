import { programContract } from '../contract/terminal-program.ts'
import { terminalContract } from '../contract/terminal.ts'
import { commands, ground, running } from './real.ts'

terminalContract('an embedded terminal', (t) => ({ ...ground('pty', t), commands }))
programContract('an embedded terminal', (t) => ({ ...ground('pty', t), running }))
