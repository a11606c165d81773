// What stands in every page, made from page.css and page.js when the project is built (scripts/embed-text).
#ifndef OPTIMIZER_REPORT_PAGE_FILES_H
#define OPTIMIZER_REPORT_PAGE_FILES_H

extern const char page_css[], page_js[];
#endif
