import { runProcess } from './wire/run.ts'

await runProcess()
