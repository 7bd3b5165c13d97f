/**
 * The numbers at which Slack refuses or cuts, in one table. Lengths are UTF-16 units of the text as stored, so after escaping:
 * whatever passes here passes there. https://docs.slack.dev/reference/block-kit and the pages of the methods.
 */
export const LIMITS = {
  /** chat.postMessage cuts `text` here without a word. */
  postedText: 40_000,
  /** chat.update refuses `text` beyond this: msg_too_long. */
  updatedText: 4_000,
  markdownText: 12_000,
  /** All texts of a message's blocks together: msg_blocks_too_long. Not documented; seen at about this size. */
  blocksText: 13_200,
  messageBlocks: 50,
  viewBlocks: 100,
  blockId: 255,
  actionId: 255,
  textObject: 3_000,
  section: 3_000,
  fields: 10,
  field: 2_000,
  header: 150,
  contextElements: 10,
  actionsElements: 25,
  altText: 2_000,
  imageTitle: 2_000,
  url: 3_000,
  buttonText: 75,
  buttonValue: 2_000,
  accessibilityLabel: 75,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,
  options: 100,
  overflowOptions: 5,
  choiceOptions: 10,
  option: 75,
  placeholder: 150,
  label: 2_000,
  hint: 2_000,
  input: 3_000,
  tableRows: 100,
  tableCells: 20,
  alert: 200,
  viewTitle: 24,
  privateMetadata: 3_000,
  callbackId: 255,
  externalId: 255,
  viewBytes: 250_000,
  viewStack: 3,
  eventType: 50,
  /** A limit exists (metadata_too_large); its number is not documented. */
  metadataBytes: 8_000,
  /** Milliseconds. */
  trigger: 3_000,
  ack: 3_000,
  responseUrl: 30 * 60_000,
  responseUrlUses: 5,
  sockets: 10,
} as const
