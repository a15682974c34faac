import { programContract } from '../contract/terminal-program.ts'
import { terminalContract } from '../contract/terminal.ts'
import { commands, ground, noTmux, running } from './real.ts'

terminalContract('a tmux pane', (t) => ({ ...ground('tmux', t), commands }), noTmux)
programContract('a tmux pane', (t) => ({ ...ground('tmux', t), running }), noTmux)
