import type { Framework } from '../../../core/talk/framework.ts'

/** A way of thinking, how sure the words make it (0 to 1), and why in a short phrase. */
export type Finding = { framework: Framework; confidence: number; why: string }

/** A rule of the selector: what it finds in a request, if anything. */
export const found = (framework: Framework, confidence: number, why: string): Finding => ({
  framework,
  confidence,
  why,
})
