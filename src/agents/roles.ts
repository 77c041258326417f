/**
 * The first words each agent hears as its system message. They are its identity on the wire: the scripted model recognises an agent
 * by them, and a changed role is a changed prompt version.
 */
export const ROLES = {
  generator: 'You are a Python programmer.',
  imaginedExecution: 'You trace Python programs by hand.',
  critic: 'You review Python programs.',
  testDesigner: 'You design tests for Python programs.',
  testJudge: 'You judge whether a test agrees with a problem statement.',
  selfDebugger: 'You debug Python programs.',
  clarifier: 'You clarify programming problems.',
} as const;

export type AgentName = keyof typeof ROLES;
