import type { CommandCode } from '../program.ts'
import * as setup from './setup.ts'
import * as init from './init.ts'
import * as doctor from './doctor.ts'
import * as demo from './demo.ts'
import * as sessions from './sessions.ts'
import * as usage from './usage.ts'
import * as audit from './audit.ts'
import * as diff from './diff.ts'
import * as undo from './undo.ts'
import * as compact from './compact.ts'
import * as system from './system.ts'
import * as config from './config.ts'
import * as where from './where.ts'
import * as forget from './forget.ts'
import * as uninstall from './uninstall.ts'
import * as ps from './ps.ts'
import * as stop from './stop.ts'
import * as crew from './crew.ts'
import * as mcp from './mcp.ts'
import * as acp from './acp.ts'
import * as agent from './agent.ts'
import * as serve from './serve.ts'
import * as task from './task.ts'
import * as report from './report.ts'
import * as completion from './completion.ts'

/** Every command's code beside the turn itself. */
export const all: Record<string, CommandCode> = {
  setup,
  init,
  doctor,
  demo,
  sessions,
  usage,
  audit,
  diff,
  undo,
  compact,
  system,
  config,
  where,
  forget,
  uninstall,
  ps,
  stop,
  crew,
  mcp,
  acp,
  agent,
  serve,
  task,
  report,
  completion,
}
