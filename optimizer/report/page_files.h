// The parts of every page, made from page.css and page.js when the project is built (scripts/embed-text).
#pragma once

extern const char page_css[], page_js[];
