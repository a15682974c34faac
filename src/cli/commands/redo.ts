import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import { takeBack } from './undo.ts'

export const run = (io: Io, parsed: Parsed): Promise<number> => takeBack(io, parsed, 'redo')
