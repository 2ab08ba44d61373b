// The rules for the page scripts. Names of the browser and of other files are tsc's to check.
import js from "@eslint/js";

export default [
  js.configs.recommended,
  { rules: { "no-undef": "off" } },
  {
    // The scripts of a report become one, so a name may be used in another file.
    files: ["src/reelscore/report/html/page/*.js"],
    languageOptions: { sourceType: "script" },
    rules: { "no-unused-vars": ["error", { vars: "local" }] },
  },
];
